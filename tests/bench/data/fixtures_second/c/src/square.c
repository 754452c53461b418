#include "shape.h"
#include <stdlib.h>

typedef struct {
    shape_t base;
    double side;
} square_t;

static double area(const shape_t *shape) {
    return ((const square_t *)shape)->side * ((const square_t *)shape)->side;
}

static void release(shape_t *shape) {
    free(shape);
}

static const shape_ops_t ops = { area, release };

shape_t *square_new(double side) {
    square_t *square = malloc(sizeof *square);
    square->base.ops = &ops;
    square->side = side;
    return &square->base;
}

void shape_release(shape_t *shape) {
    if (shape && shape->ops->release)
        shape->ops->release(shape);
}
