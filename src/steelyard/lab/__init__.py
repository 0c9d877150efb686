"""The lab: published results and policies, simulated on virtual time with the shipped code.

timeline   virtual time, and the events planned on it
worker     a request, and a worker with its waiting line; gauge: what a request costs there
traffic    requests that arrive; journal: their waiting times; draws: random numbers in blocks
queueing   a balancer in front of workers: all of the above with a policy of `select`
theory     closed forms and published figures
stats      means over seeds with their confidence intervals

scored     a balancer whose weights follow utilization; staleness: one with old information
tasks      tasks that stay where they are placed; growth: their maximum load

job        units for nodes that may die; push: sent by a balancer; pull: asked for by nodes
mesh       the same on the shipped mesh, with simulated children

trace      request counts over time; trace_file: from a file; shapes: made up; arrivals: one by one
crew       workers that come and go, with one waiting line; site: the properties of a run
autoscaled the shipped fleet with a crew; outline: only the shipped policies with a crew
references the rules of HPA and Knative, an oracle; demand: workers needed; contest: all policies

validate, efficiency, timeseries, makespan, scaling, compare   the experiments: `run(wish, watcher)`
           and `draw`
report     the result of an experiment; output: as files; figure: as a picture; watcher: progress

Everything random comes from one seed: the same seed gives the same figures.
"""
