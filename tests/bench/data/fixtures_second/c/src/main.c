#include "list.h"
#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(list_t *list);
};

static void add_area(shape_t *shape, void *context) {
    *(double *)context += shape_area(shape);
}

static double total(list_t *list) {
    double sum = 0;
    list_each(list, add_area, &sum);
    return sum;
}

static int cmd_fill(list_t *list) {
    return list_add(list, circle_new(1)) || list_add(list, square_new(2));
}

static int cmd_total(list_t *list) {
    printf("%f\n", total(list));
    return 0;
}

static const struct command commands[] = {
    {"fill", cmd_fill},
    {"total", cmd_total},
};

static const struct command *find(const char *name) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

int main(int argc, char **argv) {
    list_t *list = list_new();
    for (int i = 1; i < argc; i++) {
        const struct command *command = find(argv[i]);
        if (command)
            command->run(list);
    }
    int (*last)(list_t *) = cmd_total;
    last(list);
    list_free(list);
    return 0;
}
