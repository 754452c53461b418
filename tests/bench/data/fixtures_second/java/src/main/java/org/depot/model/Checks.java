package org.depot.model;

final class Checks {
    private Checks() {}

    static void notBlank(String text) {
        check(!text.isBlank(), "blank");
    }

    static void check(boolean holds, String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}
