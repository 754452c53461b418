"""Published indexes: the index of a commit in a folder or on a server, and the first index of a tree from one.

`manifest` says what one is, `body` packs and unpacks its files, `shelf` keeps many in a folder, `remote` reaches the
shelf of a server, `tokens` says who may, `publishing` puts an index there, `starting` takes the one of the nearest
ancestor (ADR 0084).
"""
