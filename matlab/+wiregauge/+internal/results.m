function results(value)
%RESULTS  Refuse what is not a struct array of wiregauge.pure.measure.
%   wiregauge.internal.results(value) ends in wiregauge:argument.

if ~isstruct(value) || isempty(value) || ~all(isfield(value, {'rtt_ns', 'trt_ns', 'in', 'out', 'queue', 'elapsed_ns'}))
    wiregauge.internal.fail('wiregauge:argument', 'the results must be those of wiregauge.pure.measure, not %s', ...
        wiregauge.internal.described(value));
end
end
