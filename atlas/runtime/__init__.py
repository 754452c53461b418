"""Around the features: settings (`config`); files, locks, the data folder and the daemon as a process (`process`)."""
