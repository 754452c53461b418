"""HTTP requests for documentation: implements the `Fetcher` of `atlas.core.fetching`."""
