BASE_CENTS = 450
PER_KILOGRAM = 60


def price_of(order):
    return BASE_CENTS + PER_KILOGRAM * order["weight"]


def apply_voucher(cents, voucher):
    if voucher.expired:
        return cents
    return max(0, cents - voucher.cents)


def add_tax(cents, rate=0.19):
    return round(cents * (1 + rate))
