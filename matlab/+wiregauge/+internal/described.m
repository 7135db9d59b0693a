function text = described(value)
%DESCRIBED  A value in the words of an error: itself if it is short, else its class and size.
%   text = wiregauge.internal.described(value) returns 'NaN', '''lots''', 'an empty cell', 'a struct (1-by-3)'.

article = 'a';
if strncmp(class(value), 'i', 1)
    article = 'an';
end
if ischar(value) && size(value, 1) == 1 && numel(value) <= 60
    text = ['''', value, ''''];
elseif islogical(value) && isscalar(value)
    words = {'false', 'true'};
    text = words{1 + value};
elseif isnumeric(value) && isscalar(value) && isreal(value)
    text = sprintf('%.15g', full(double(value)));
elseif isempty(value)
    text = ['an empty ', class(value)];
else
    text = sprintf('%s %s (%s)', article, class(value), strrep(strtrim(sprintf('%d ', size(value))), ' ', '-by-'));
end
end
