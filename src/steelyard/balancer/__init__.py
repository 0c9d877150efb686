"""The data plane: takes clients' requests and forwards each to a worker.

process   one balancer process: a data thread (plane) and a control thread (control)
plane     loop + listener + clients; a stop without loss.  loop: epoll, sweep.  stream: a socket
client    a client's connection: heads in, one exchange at a time.  farewell: a close in two steps
exchange  one request's life.  tunnel: what an upgraded one becomes
dial      which worker, and which next.  upstream: a connection to one
forward   client's bytes → worker's bytes.  answer: worker's bytes → client's bytes.  No sockets
grammar   strict heads, read from bytes.  heads: what was read.  start_line, authority: their parts
fields    lines, and what their names mean.  framing: bodies.  headers: what goes out instead
origin    who a request is from, and whom to believe.  greeting, proxy_protocol: told by a proxy
refusals  our own answers.  access_log: notes of requests.  access_log: what is written of them
crowd     connections per client.  overdue: exchanges that take too long.  pace: slow bodies
table     who gets new requests, made by the directory.  worker: address, tally, idle pool
slowstart a new worker's weight.  gauge: how long a worker takes
ejection  who is left alone for a while.  budget: how many retries there are
line      requests that wait for a worker to have room
feed      queues in, reports out.  intake, resolver: queue → table.  reporter, counters: → report
"""
