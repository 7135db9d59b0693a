function value = decoded(text)
%DECODED  Decode JSON so that fields of struct arrays make vectors.
%   value = wiregauge.internal.decoded(text) is jsondecode(text), but null is NaN, and a list of objects is a struct array even
%   if their names differ: missing fields are NaN.

sentinel = '<<null>>';
[first, last] = regexp(text, '"[^"\\]*(?:\\.[^"\\]*)*"');
inside = zeros(1, numel(text) + 1);
inside(first) = 1;
inside(last + 1) = inside(last + 1) - 1;
inside = cumsum(inside) > 0;
% Only members of objects: jsondecode takes a null in a list of numbers for NaN.
at = regexp(text, ':\s*null\>', 'end');
at = at(~inside(at));
begins = [1, at + 1];
ends = [at - 4, numel(text)];
parts = arrayfun(@(from, to) text(from:to), begins, ends, 'UniformOutput', false);
value = walked(jsondecode(strjoin(parts, ['"', sentinel, '"'])), sentinel);
end

function value = walked(value, sentinel)
if isstruct(value)
    names = fieldnames(value);
    if ~isempty(names)
        value = cell2struct(in_cells(struct2cell(value), sentinel), names, 1);
    end
elseif iscell(value)
    value = in_cells(value, sentinel);
    if ~isempty(value) && all(cellfun(@(one) isstruct(one) && isscalar(one), value))
        value = wiregauge.internal.structArray(value);
    end
elseif strcmp(value, sentinel)
    value = NaN;
end
end

function cells = in_cells(cells, sentinel)
% All at once: numbers and other texts, which are most, are not looked at one by one.
cells(strcmp(cells, sentinel)) = {NaN};
nested = cellfun('isclass', cells, 'struct') | cellfun('isclass', cells, 'cell');
cells(nested) = cellfun(@(one) walked(one, sentinel), cells(nested), 'UniformOutput', false);
end
