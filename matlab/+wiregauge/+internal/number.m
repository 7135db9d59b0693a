function value = number(from, varargin)
%NUMBER  A number out of nested structs, or NaN where it is missing.
%   value = wiregauge.internal.number(summary, 'rtt', 'p99', 'value') is summary.rtt.p99.value.

value = NaN;
for k = 1:numel(varargin)
    if ~isstruct(from) || ~isscalar(from) || ~isfield(from, varargin{k})
        return
    end
    from = from.(varargin{k});
end
if isnumeric(from) && isscalar(from)
    value = double(from);
end
end
