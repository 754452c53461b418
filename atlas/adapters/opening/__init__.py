"""Settings -> adapters: the modules that see both. Functions import the adapter that they need."""
