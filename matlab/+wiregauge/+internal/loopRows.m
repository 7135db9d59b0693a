function json = loopRows(value, name)
%LOOPROWS  A real matrix as JSON, to the last digit.
%   json = wiregauge.internal.loopRows([1 0; 0 2], 'plant.A') returns '[[1, 0], [0, 2]]'; a number is a number. jsonencode makes one
%   list of a row and of a column, and rounds.
%
%   Errors: wiregauge:argument, which names the matrix, unless it is real and finite.

if ~(isnumeric(value) || islogical(value)) || ~isreal(value) || ndims(value) > 2 || ~all(isfinite(value(:)))
    wiregauge.internal.fail('wiregauge:argument', '%s must be a matrix of finite real numbers, not %s', name, ...
        wiregauge.internal.described(value));
end
value = full(double(value));
if isscalar(value)
    json = sprintf('%.17g', value);
    return
end
lines = cell(1, size(value, 1));
for k = 1:numel(lines)
    numbers = arrayfun(@(one) sprintf('%.17g', one), value(k, :), 'UniformOutput', false);
    lines{k} = ['[', strjoin(numbers, ', '), ']'];
end
json = ['[', strjoin(lines, ', '), ']'];
end
