package org.depot.model;

import java.util.Objects;

public record Item(String code, Quantity quantity) implements Comparable<Item> {
    public Item {
        Objects.requireNonNull(code);
        Checks.notBlank(code);
    }

    public Item withQuantity(Quantity next) {
        return new Item(code, next);
    }

    public Item plus(Item other) {
        return withQuantity(quantity.add(other.quantity()));
    }

    @Override
    public int compareTo(Item other) {
        return code.compareTo(other.code);
    }
}
