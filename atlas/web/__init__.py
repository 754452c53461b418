"""HTTP requests for documentation: implements the `Fetcher` of `atlas.docs.sources.values`. Only `app` imports it."""
