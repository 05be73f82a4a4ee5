"""Where entries live: the numpy index, Qdrant Edge in the process, and a Qdrant server.

Each backend is a module of its own, and only importing that module loads its engine:

- `langchain_semcache.index.memory.MemoryIndex`
- `langchain_semcache.index.qdrant_edge.QdrantEdgeIndex`
- `langchain_semcache.index.qdrant_server.QdrantServerIndex`
"""
