"""The built-in web application: something to serve, load and break.

app        raw ASGI: finds the endpoint of a path, answers wrong queries
endpoints  one function for each path (the page lists them)
exchange   one request and its answer; query: its numbers, within limits
load       what can be burnt and held: CPU time, memory
onewrite   a small answer leaves in one piece; server: uvicorn around it all
"""
