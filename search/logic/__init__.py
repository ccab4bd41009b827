"""Worlds with exceptions (the task `abd`): rules that say which elements are abnormal."""
