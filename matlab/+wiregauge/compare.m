function result = compare(before, after, varargin)
%COMPARE  Compare two runs, or two sets of runs, and test what differs.
%   wiregauge.compare(before, after) prints the tables of `wiregauge compare`; with an output it returns a struct. Each side is a
%   run of this package, its directory, its name, or a cell array of several runs.
%
%   Options are the flags of `wiregauge compare`:
%     'FailIf'     conditions such as 'p99 > 5% worse', {'lost > 0.1% more', 'in=48: p50 > 3% worse'}
%     'Only'       only these figures: 'p50,p99'. Fewer figures detect smaller differences
%     'Full', 'Format'    of the printed tables
%
%   result has the fields of `wiregauge compare --json` (docs/compare.md); times are in ns, rates per second, shares 0 to 1,
%   missing values NaN:
%     before, after, changed, notes, confidence
%     missed                      the conditions of 'FailIf' that are met by the whole interval of the difference, a cell column of
%                                 text; empty if none. Undecided ones (the interval contains the bound): fail_if.undecided
%     points                      a struct array, one element for each point:
%       point                     its setting as text: in, out, depth, ...
%       figures                   a struct array, one element for each figure:
%         figure                  'mean', 'p50', 'p99', 'trt', 'exchanges' ...
%         verdict                 'worse', 'better', 'no-difference-shown', 'cannot-tell'; in the printed tables words of the figure
%                                 (slower, loses more ...; faster ...), no significant difference, inconclusive
%         difference              before, after, absolute, relative: each with value, low, high
%     fail_if                     a struct array: condition, is_met, met, undecided (points)
%
%   Example:
%     before = wiregauge.exchange('tcp://127.0.0.1:7700', 'Depth', [1 2], 'Count', 200);
%     after = wiregauge.exchange('tcp://127.0.0.1:7700', 'Depth', [1 2], 'Count', 200);
%     result = wiregauge.compare(before, after, 'Only', 'p50,p99');
%     verdicts = {result.points(1).figures.verdict}
%     change = result.points(1).figures(1).difference.relative.value
%
%   Errors: wiregauge:usage (no such run, different kinds, no point in common), wiregauge:argument, wiregauge:missing.
%
%   See also wiregauge.exchange, wiregauge.report.

wiregauge.internal.given(nargin, 2, Inf, 'result = wiregauge.compare(before, after)');
places = {strjoin(wiregauge.internal.runNames(before), ','), strjoin(wiregauge.internal.runNames(after), ',')};
words = wiregauge.internal.flags(varargin);
if nargout == 0
    wiregauge.internal.printed('compare', words, places);
    return
end
result = wiregauge.internal.answered('compare', words, places);
result.missed = cell(0, 1);
for condition = result.fail_if(:)'
    result.missed = [result.missed; strcat(condition.condition, {': '}, condition.met)];
end
end
