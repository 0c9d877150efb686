"""HTTP/1.1 as bytes, parsed strictly and written anew, without sockets.

grammar          parses the heads of requests and answers
start_line       parses the first line of a head.  authority: HOST:PORT in a target or Host field
fields           parses field lines and the values of special fields.  names: the special fields
alphabets        the sets of octets that the parts of a head may contain
heads            the parsed head of a request or an answer, and its text
refused_head     parses what it can of a refused head, for the access log
framing          finds the end of a body, and frames a body for sending
rewriting        writes heads: removes and adds fields as a proxy must
origin           the origin of a request, and the fields that tell a worker the origin
date             the Date field of the present second
proxy_protocol   parses the header that a proxy sends before the first request
"""
