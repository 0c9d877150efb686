"""The built-in web application: something to serve, load and break."""
