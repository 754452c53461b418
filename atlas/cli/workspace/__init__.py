"""`atlas workspace`: projects of the user that answer together. `user_file` changes the settings."""
