"""The control thread: does all work that is not on clients' data.

control             the thread itself
agent_link          the link to the agent: queues come in, reports go out
intake              makes a table from a queue.  resolver: names of workers → addresses
reporter            makes reports for the agent from the counts
account             makes an account for the supervisor from the counts.  pusher: sends it
renewal             loads certificates again when their files change
access_log_writer   writes the access log, in a thread of its own
"""
