import csv
import json

REQUIRED = ("customer", "street", "weight")


class InvalidOrder(ValueError):
    pass


def read_order(body):
    order = json.loads(body)
    missing = [field for field in REQUIRED if field not in order]
    if missing:
        raise InvalidOrder(f"order lacks {', '.join(missing)}")
    return order


def import_addresses(path):
    with open(path, newline="") as lines:
        return [normalise_street(row["street"]) for row in csv.DictReader(lines)]


def normalise_street(street):
    return street.strip().replace("Str.", "Street").title()
