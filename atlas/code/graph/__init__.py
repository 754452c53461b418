"""Edges as answers: relations, paths, unions, unused and untested code, routes, packages."""
