function text = inMatlab(text)
%INMATLAB  A text of the wiregauge program in the words of this package: options instead of flags, functions instead of commands.
%   text = wiregauge.internal.inMatlab(text) turns "error: invalid value '0' for '--depth <LIST>': ... the minimum is 1" into
%   "Depth must be at least 1, not 0", and "use --connect once" into "use 'Connect', 'once'". Commands that the package has no
%   function for stay, such as `wiregauge serve`.

text = regexprep(text, '^error: ', '');
text = regexprep(text, '\n\n(Usage:|For more information).*$', '');
text = strtrim(ofParser(text));
functions = 'exchange|stream|loop|tune|explain|deadline|compare|control|report|limits';
words = ['(?: (?:--[a-z][a-z0-9-]*(?:[ =]', anyValue(), ...
    ')?|[a-z]+://[^\s,;`''()]+|ADDRESS|RUN|FILE\.\w+|last|usb|uart|can|tcp|udp)(?![\w:]))*'];
[calls, between] = regexp(text, ['\<wiregauge (?:(?:', functions, ')\>(?!-)', words, '|[a-z][^`\n;,]*)'], 'match', 'split');
for k = 1:numel(calls)
    if ~isempty(regexp(calls{k}, ['^wiregauge (?:', functions, ')\>(?!-)'], 'once'))
        calls{k} = asCall(calls{k});
    end
end
text = joined(cellfun(@withOptions, between, 'UniformOutput', false), calls);
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
elseif ~isempty(least)
    text = sprintf('%s must be at least %s, not %s', name, least{1}, value);
elseif ~isempty(range)
    text = sprintf('%s must be %s to %s, not %s', name, range{1}, range{2}, value);
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

function text = withOptions(text)
% Flags in a sentence. A word behind one is its value if it is a number, quoted, or one of these.
values = ['''[^'']*''|\d(?:[\w.,:=%/]*\w)?|(?<=--protocol )(?:echo|lines|text|scpi|modbus|wiregauge)\>|' ...
    '(?<=--connect )(?:each|once)\>|(?<=--wait )(?:block|poll|spin)\>|(?<=--direction )(?:in|out|both)\>'];
[flags, between] = regexp(text, ['(?<![\w/''-])--[a-z][a-z0-9-]*[a-z0-9](?:[ =](?:', values, '))?'], 'match', 'split');
for k = 2:numel(between) - 1
    if strcmp(between{k}, ' ')
        between{k} = ', ';
    end
end
text = joined(between, cellfun(@asPair, flags, 'UniformOutput', false));
end

function text = asCall(words)
% `wiregauge limits uart --baud 9600` as wiregauge.limits('uart', 'Baud', 9600).
parts = regexp(words, ['--[a-z][a-z0-9-]*(?:[ =]', anyValue(), ')?|\S+'], 'match');
given = cell(1, numel(parts) - 2);
for k = 3:numel(parts)
    word = parts{k};
    if strncmp(word, '--', 2)
        word = asPair(word);
        if isempty(strfind(word, ',')) %#ok<STREMP>
            word = [word, ', true']; %#ok<AGROW>
        end
    elseif strcmp(word, upper(word))
        word = lower(word);
    else
        word = ['''', word, ''''];
    end
    given{k - 2} = word;
end
text = sprintf('wiregauge.%s', parts{2});
if ~isempty(given)
    text = sprintf('%s(%s)', text, strjoin(given, ', '));
end
end

function pattern = anyValue()
pattern = '(?:''[^'']*''|\.\.\.|(?!--)[^\s;`''()]*[^\s,;:.`''()])';
end

function text = asPair(words)
% `--depth 1` as 'Depth', 1.
parts = regexp(words, '^(--[a-z0-9-]+)(?:[ =](.*))?$', 'tokens', 'once');
text = ['''', wiregauge.internal.option(parts{1}), ''''];
if numel(parts) < 2 || isempty(parts{2})
    return
end
value = parts{2};
if ~isempty(regexp(value, '^\d+(,\d+)+$', 'once'))
    value = ['[', strrep(value, ',', ' '), ']'];
elseif value(1) ~= '''' && isempty(regexp(value, '^\d+(\.\d+)?$', 'once'))
    value = ['''', value, ''''];
end
text = [text, ', ', value];
end

function text = joined(between, parts)
% The texts with the parts in between.
both = [between; [parts, {''}]];
text = [both{:}];
end
