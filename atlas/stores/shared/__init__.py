"""What all stores share: filters, names, chunks, and statements kept as files."""
