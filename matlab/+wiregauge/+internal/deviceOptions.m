function options = deviceOptions(address, given)
%DEVICEOPTIONS  The options of wiregauge.open over their defaults.
%   options = wiregauge.internal.deviceOptions(address, {'Framing', 'fixed', 'ReplyBytes', 8}) returns a struct for the MEX file.
%
%   Errors: wiregauge:argument for an option that is unknown, invalid, or has no effect on this device.

defaults = struct('Protocol', 'wiregauge', 'Framing', 'wiregauge', 'Terminator', char(10), 'ReplyBytes', 0, 'LengthBytes', 2, ...
    'BigEndian', false, 'CountsItself', false, 'Timeout', 1, 'Wait', 'block', 'Baud', 0, 'QuickAck', false);
options = wiregauge.internal.pairs(given, defaults);
wiregauge.internal.seconds('Timeout', options.Timeout, 86400);
options.Timeout = double(options.Timeout);
is_serial = strncmp(address, 'serial:', 7) || isempty(strfind(address, '://')); %#ok<STREMP>
if ~is_serial && ~isequal(options.Baud, 0)
    refuse('Baud', sprintf('a serial line, such as serial:///dev/ttyACM0, not %s', address));
elseif ~strncmp(address, 'tcp:', 4) && ~isequal(options.QuickAck, 0)
    refuse('QuickAck', sprintf('tcp://HOST:PORT, not %s', address));
end
is_text = strcmp(options.Protocol, 'text') || strcmp(options.Framing, 'terminator');
needs = {'Terminator', is_text, '''Framing'', ''terminator'' or ''Protocol'', ''text'''; ...
    'ReplyBytes', strcmp(options.Framing, 'fixed'), '''Framing'', ''fixed'''; ...
    'LengthBytes', strcmp(options.Framing, 'length'), '''Framing'', ''length'''; ...
    'BigEndian', strcmp(options.Framing, 'length'), '''Framing'', ''length'''; ...
    'CountsItself', strcmp(options.Framing, 'length'), '''Framing'', ''length'''};
names = cellfun(@char, given(1:2:end), 'UniformOutput', false);
for k = 1:size(needs, 1)
    if any(strcmpi(needs{k, 1}, names)) && ~needs{k, 2}
        refuse(needs{k, 1}, needs{k, 3});
    end
end
check(options, names);
end

function check(options, names)
% What the library would refuse without the name of the option.
if strcmp(options.Framing, 'fixed') && ~any(strcmpi('ReplyBytes', names))
    wiregauge.internal.fail('wiregauge:argument', '''Framing'', ''fixed'' requires ''ReplyBytes'', the size of every reply');
elseif ~any(cellfun(@(bytes) isequal(options.LengthBytes, bytes), {1, 2, 4}))
    wiregauge.internal.fail('wiregauge:argument', 'LengthBytes must be 1, 2 or 4, not %s', ...
        wiregauge.internal.described(options.LengthBytes));
elseif (ischar(options.Terminator) || isnumeric(options.Terminator)) && ~any(numel(options.Terminator) == 1:8)
    wiregauge.internal.fail('wiregauge:argument', 'Terminator must be 1 to 8 bytes, not %d', numel(options.Terminator));
end
end

function refuse(name, what)
wiregauge.internal.fail('wiregauge:argument', '%s requires %s', name, what);
end
