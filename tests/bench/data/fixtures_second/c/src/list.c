#include "list.h"
#include <stdlib.h>

struct node {
    shape_t *shape;
    struct node *next;
};

struct list {
    struct node *head;
    size_t count;
};

static struct node *node_new(shape_t *shape, struct node *next) {
    struct node *node = malloc(sizeof *node);
    if (node) {
        node->shape = shape;
        node->next = next;
    }
    return node;
}

list_t *list_new(void) {
    return calloc(1, sizeof(list_t));
}

int list_add(list_t *list, shape_t *shape) {
    struct node *node = node_new(shape, list->head);
    if (!node)
        goto fail;
    list->head = node;
    list->count++;
    return 0;
fail:
    RELEASE(shape);
    return -1;
}

void list_each(list_t *list, visit_fn visit, void *context) {
    for (struct node *node = list->head; node; node = node->next)
        visit(node->shape, context);
}

static void free_shape(shape_t *shape, void *context) {
    (void)context;
    shape_release(shape);
}

void list_free(list_t *list) {
    list_each(list, free_shape, NULL);
    free(list);
}
