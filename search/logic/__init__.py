"""Rules that say which elements are abnormal in finite worlds (the task `abd`)."""
