function array = structArray(structs)
%STRUCTARRAY  Scalar structs as one struct array, a column; fields that one of them lacks are NaN.
%   array = wiregauge.internal.structArray(structs) takes a cell array.

names = {};
for k = 1:numel(structs)
    found = fieldnames(structs{k});
    names = [names; found(~ismember(found, names))]; %#ok<AGROW>
end
values = cell(numel(names), numel(structs));
for k = 1:numel(structs)
    for n = 1:numel(names)
        values{n, k} = NaN;
        if isfield(structs{k}, names{n})
            values{n, k} = structs{k}.(names{n});
        end
    end
end
array = cell2struct(values, names, 1);
end
