function list = texts(value)
%TEXTS  A list of texts out of JSON as a cell column, empty if there is none.
%   list = wiregauge.internal.texts(value) takes what jsondecode makes of a list of strings.

list = cell(0, 1);
if ischar(value)
    list = {value};
elseif iscell(value)
    list = value(:);
end
end
