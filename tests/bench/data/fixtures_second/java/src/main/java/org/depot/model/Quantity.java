package org.depot.model;

public final class Quantity {
    public static final Quantity NONE = of(0);

    private final int amount;

    private Quantity(int amount) {
        this.amount = amount;
    }

    public static Quantity of(int amount) {
        return new Quantity(amount);
    }

    public Quantity add(Quantity other) {
        return of(amount + other.amount);
    }

    public boolean isEmpty() {
        return amount == 0;
    }

    enum Unit {
        PIECE {
            @Override
            int scale(int value) {
                return value;
            }
        },
        BOX {
            @Override
            int scale(int value) {
                return PIECE.scale(value) * 12;
            }
        };

        abstract int scale(int value);

        Quantity toQuantity(int value) {
            return of(scale(value));
        }
    }
}
