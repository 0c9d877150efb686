"""HTTP/1.1 as bytes, read strictly and written anew. No socket is touched here.

grammar          reads the heads of requests and answers
start_line       the first line of a head.  authority: HOST:PORT in it and in Host
fields           field lines, and what the values of special fields say.  names: those fields
alphabets        the octets that may occur where
heads            what was understood of a head, and its text
refused_head     what can be told of a head that was refused, for the access log
framing          bodies: where one ends, and how it is framed on the way out
rewriting        heads on their way out: the fields that a balancer takes away and adds
origin           where a request came from, and the fields that tell a worker so
date             the Date field of the present second
proxy_protocol   the header that a proxy sends before the first request
"""
