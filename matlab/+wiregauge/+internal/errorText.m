function text = errorText(said)
%ERRORTEXT  The text of an error out of what the wiregauge program wrote to standard error, in the words of this package.
%   text = wiregauge.internal.errorText(said) turns "error: invalid value '0' for '--depth <LIST>': ... the minimum is 1" into "Depth
%   must be at least 1, not 0".

text = regexprep(said, '^error: ', '');
text = regexprep(text, '\n\n(Usage:|For more information).*$', '');
text = wiregauge.internal.inMatlab(strtrim(ofParser(text)));
end

function text = ofParser(text)
% What the program says of words that are no command.
[parts, found] = regexp(text, '^invalid value ''(.*?)'' for ''([^'']*)''(.*)$', 'tokens', 'match', 'once');
if ~isempty(found)
    text = invalid(nameOf(parts{2}), parts{1}, strtrim(parts{3}));
    return
end
[parts, found] = regexp(text, '^unexpected argument ''(--[^'']*)'' found(?:\n\n\s*tip: a similar argument exists: ''(--[^'']*)'')?', ...
    'tokens', 'match', 'once');
if ~isempty(found)
    parts = parts(~cellfun(@isempty, parts));
    text = sprintf('unknown option "%s"', wiregauge.internal.option(parts{1}));
    if numel(parts) > 1
        text = sprintf('%s; did you mean "%s"?', text, wiregauge.internal.option(parts{2}));
    else
        text = [text, '; the help of this function lists the options'];
    end
    return
end
[parts, found] = regexp(text, '^unexpected value ''(.*?)'' for ''([^'']*)'' found', 'tokens', 'match', 'once');
if ~isempty(found)
    text = sprintf('%s must be true or false, not ''%s''', nameOf(parts{2}), parts{1});
    return
end
[parts, found] = regexp(text, '^the following required arguments were not provided:\n(.*)$', 'tokens', 'match', 'once');
if ~isempty(found)
    lines = strsplit(strtrim(parts{1}), sprintf('\n'));
    text = ['missing: ', strjoin(cellfun(@alternatives, lines, 'UniformOutput', false), ', ')];
    return
end
text = regexprep(text, 'the argument ''(--[a-z0-9-]+)[^'']*'' cannot be used multiple times', '$1 can be given only once');
text = regexprep(text, 'the argument ''(--[a-z0-9-]+)[^'']*'' cannot be used with ''(--[a-z0-9-]+)[^'']*''', '$1 cannot be used with $2');
text = regexprep(text, 'a value is required for ''(--[a-z0-9-]+)[^'']*'' but none was supplied', '$1 needs a value');
end

function text = invalid(name, value, reason)
choices = regexp(reason, '\[possible values: ([^\]]*)\]', 'tokens', 'once');
least = regexp(reason, 'the minimum is (\S+)$', 'tokens', 'once');
range = regexp(reason, '^: \S+ is not in (\S+?)\.\.=?(\S+)$', 'tokens', 'once');
if ~isempty(choices)
    one_of = '';
    if any(choices{1} == ',')
        one_of = 'one of ';
    end
    text = sprintf('%s must be %s''%s'', not ''%s''', name, one_of, strrep(choices{1}, ', ', ''', '''), value);
elseif ~isempty(least) && any(value == '=')
    text = sprintf('%s ''%s'': the minimum is %s', name, value, least{1});
elseif ~isempty(least)
    text = sprintf('%s must be at least %s, not %s', name, least{1}, value);
elseif ~isempty(range)
    text = sprintf('%s must be %s to %s, not %s', name, range{1}, range{2}, value);
elseif isempty(strfind(reason, value)) %#ok<STREMP>
    text = sprintf('%s ''%s''%s', name, value, reason);
else
    text = sprintf('%s%s', name, reason);
end
end

function name = nameOf(declared)
% '--depth <LIST>' is an option, '[MEDIUM]' or '<ADDRESS>...' an argument.
flag = regexp(declared, '^--[a-z0-9-]+', 'match', 'once');
if isempty(flag)
    name = ['the ', lower(regexprep(declared, '[^\w ]', ''))];
else
    name = wiregauge.internal.option(flag);
end
end

function text = alternatives(line)
flags = regexp(line, '--[a-z][a-z0-9-]*', 'match');
if isempty(flags)
    text = nameOf(strtrim(line));
else
    text = ['''', strjoin(cellfun(@wiregauge.internal.option, flags, 'UniformOutput', false), ''' or '''), ''''];
end
end
