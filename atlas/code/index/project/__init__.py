"""One project as its tiers see it: the scanned tree, the warm linker, reconciliation with the store."""
