; TypeScript with elements: everything is in the folders that language.toml includes.
