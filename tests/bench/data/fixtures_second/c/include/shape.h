#ifndef SHAPE_H
#define SHAPE_H

#include <stddef.h>

struct shape;

typedef struct shape_ops {
    double (*area)(const struct shape *shape);
    void (*release)(struct shape *shape);
} shape_ops_t;

typedef struct shape {
    const shape_ops_t *ops;
    const char *name;
} shape_t;

typedef void (*visit_fn)(shape_t *shape, void *context);

static inline double shape_area(const shape_t *shape) {
    return shape->ops->area(shape);
}

shape_t *circle_new(double radius);
shape_t *square_new(double side);
void shape_release(shape_t *shape);

#define RELEASE(shape) shape_release((shape_t *)(shape))

#endif
