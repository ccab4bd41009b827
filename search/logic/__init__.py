"""Search for rules that say which elements of finite worlds are abnormal (the task `abd`)."""
