"""Commands about knowledge packs."""
