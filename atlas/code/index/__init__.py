"""The write path: what changed on disk becomes events, tiers turn events into graph, text and vectors in the store.

Streams carry hints, the store carries truth: every tier asks the disk and the store what is really missing. `watch`
reports paths, `events` names the streams, `worker` is the loop that takes batches from them. `tiers` has the three
tiers, `project` what they know of one project, `detectors` the rules for routes and events. `index` runs the tiers once
over a tree, `daemon` runs them for as long as it lives, and `cluster` lets several processes share the work.
`index_request` and `daemon_client` ask for a pass, `copying` copies an index.
"""
