"""What statements give to members of objects: functions that replace others, and fields."""
