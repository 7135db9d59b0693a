function result = deadline(run, varargin)
%DEADLINE  Report how often a control loop would miss its deadline.
%   wiregauge.deadline(run, 'Period', 1e-3) prints the tables of `wiregauge deadline`; with an output it returns a struct.
%   run is an exchange run of wiregauge.exchange or wiregauge.loadRun, its directory, its name, or 'last'.
%
%   Options are the flags of `wiregauge deadline`; times are seconds, or text ('1ms'):
%     'Period'     period of the loop (default: the interval or rate of the run)
%     'Deadline'   time by which a response must arrive (default: the period)
%     'Jitter'     also count a miss if the response time differs from the median by more than this
%     'Beyond'     extrapolate to the response time exceeded once in this many responses, such as 1e6
%     'Require'    limits that every point must meet: 'missed<0.1%', {'missed<1e-6', 'longest<3'}
%     'Point', 'In', 'Out', 'Depth'    only these points of the run ('Point' counts from 0)
%     'Figure'     write a figure to this file (.svg or .png)
%
%   result has the fields of `wiregauge deadline --json` (docs/deadline.md); times are in ns, shares 0 to 1, missing values NaN:
%     run, period_ns, deadline_ns, jitter_ns
%     missed_limits               the limits of 'Require' that are missed or undecided, a cell column of text
%     points                      a struct array, one element for each point:
%       point                     index, out_bytes, in_bytes, depth
%       cycles, missed            counts; share (value, low, high: 95 % confidence)
%       longest_run, mean_run     consecutive misses, in cycles
%       response                  distribution of the response time: p50, p99 (value, low, high), max ...
%       beyond                    extrapolated tail: late (share beyond the deadline), one_in, level; why there is none
%
%   Example:
%     run = wiregauge.exchange('tcp://127.0.0.1:7700', 'Depth', [1 2], 'Count', 300);
%     result = wiregauge.deadline(run, 'Period', 5e-3);
%     missed = arrayfun(@(one) one.share.value, result.points)'
%     longest = [result.points.longest_run]
%
%   Errors: wiregauge:usage (no such run or point, not an exchange run, no period), wiregauge:argument, wiregauge:missing.
%
%   See also wiregauge.exchange, wiregauge.control.

wiregauge.internal.given(nargin, 1, Inf, 'result = wiregauge.deadline(''last'', ''Period'', 1e-3)');
places = {wiregauge.internal.runName(run)};
words = wiregauge.internal.flags(varargin);
if nargout == 0
    wiregauge.internal.printed('deadline', words, places);
    return
end
result = wiregauge.internal.answered('deadline', words, places);
end
