function bytes = line(lines, message)
%LINE  A message of text as the bytes to send.
%   bytes = wiregauge.internal.line(lines, message) returns uint8 (UTF-8). lines is Device.lines.
%
%   Errors: wiregauge:usage if the device does not take lines, wiregauge:argument if the message is not text.

if isempty(lines)
    wiregauge.internal.fail('wiregauge:usage', ...
        ['the device was not opened for text: use wiregauge.open(address, ''Protocol'', ''scpi'') or ' ...
        '(address, ''Framing'', ''terminator''), or dev.exchange for bytes']);
end
bytes = unicode2native(wiregauge.internal.text(message, 'the message'), 'UTF-8');
end
