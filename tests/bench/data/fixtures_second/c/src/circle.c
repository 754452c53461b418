#include "shape.h"
#include <stdlib.h>

typedef struct {
    shape_t base;
    double radius;
} circle_t;

static double area(const shape_t *shape);
static void release(shape_t *shape);

static const shape_ops_t ops = {
    .area = area,
    .release = release,
};

static double square(double value) { return value * value; }

static double area(const shape_t *shape) {
    const circle_t *circle = (const circle_t *)shape;
    return 3.14 * square(circle->radius);
}

static void release(shape_t *shape) {
    free(shape);
}

shape_t *circle_new(double radius) {
    circle_t *circle = malloc(sizeof *circle);
    if (!circle)
        return NULL;
    circle->base.ops = &ops;
    circle->radius = radius;
    return &circle->base;
}
