"""The built-in web application: something to serve, load and break.

app        raw ASGI: finds the endpoint of a path, answers wrong queries
endpoints  one function for each path (the page lists them)
exchange   one request and its answer; query: the numbers in its query string, within limits
load       uses CPU time and memory on demand
onewrite   sends a small answer in one piece; server: uvicorn around it all
"""
