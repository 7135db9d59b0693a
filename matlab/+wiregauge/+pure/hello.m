function about = hello(connection, varargin)
%HELLO  Ask a wiregauge responder who it is.
%   about = wiregauge.pure.hello(connection) sends HELLO and returns a struct: name, max_out, max_in (bytes), max_outstanding
%   (0: not stated), tick_hz (0: no clock).
%
%   Example:
%     connection = wiregauge.pure.connect('tcp://127.0.0.1:7700');
%     about = wiregauge.pure.hello(connection)
%
%   Errors: wiregauge:timeout without an answer, wiregauge:protocol if the answer is none.

wiregauge.internal.given(nargin, 1, 1, 'about = wiregauge.pure.hello(wiregauge.pure.connect(''tcp://127.0.0.1:7700''))');
wiregauge.internal.connection(connection);
write(connection, wiregauge.pure.encode(0, 104, 104, 0)', 'uint8');
answer = uint8(read(connection, 104, 'uint8'));
if numel(answer) < 104
    wiregauge.internal.fail('wiregauge:timeout', ...
        'no HELLO reply: received %d of 104 bytes. Does the device use the wiregauge protocol?', ...
        numel(answer));
end
answer = answer(:);
header = wiregauge.pure.decode(answer);
if ~header.valid || header.kind ~= 0 || header.in_payload ~= 72
    wiregauge.internal.fail('wiregauge:protocol', 'the reply to HELLO is not valid. For an echo server use ''Protocol'', ''echo''');
end
payload = double(answer(33:end));
about.max_out = (256.^(0:3)) * payload(9:12);
about.max_in = (256.^(0:3)) * payload(13:16);
about.max_outstanding = (256.^(0:3)) * payload(17:20);
about.tick_hz = (256.^(0:7)) * payload(25:32);
name = payload(33:64)';
finish = [find(name < 32 | name == 127, 1), 33];
about.name = char(name(1:finish(1) - 1));
end
