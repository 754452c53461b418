#ifndef LIST_H
#define LIST_H

#include "shape.h"

typedef struct list list_t;

list_t *list_new(void);
int list_add(list_t *list, shape_t *shape);
void list_each(list_t *list, visit_fn visit, void *context);
void list_free(list_t *list);

#endif
