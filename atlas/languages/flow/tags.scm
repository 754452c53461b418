; Types of Flow are read like those of TypeScript: everything is in the folders that language.toml includes.
