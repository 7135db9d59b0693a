function dev = open(address, varargin)
%OPEN  Open a device to exchange your own bytes with.
%   dev = wiregauge.open('tcp://10.0.0.5:7700') opens tcp://, udp://, unix://, serial://PATH or usb:// and returns a wiregauge.Device.
%   The device uses the wiregauge protocol, or with 'Framing' another one:
%
%     'wiregauge'     (default) numbered frames with checksums; answers have the requested size
%     'raw'           no framing; each call gives the size of the answer
%     'terminator'    messages end with 'Terminator' (char(10), the newline, unless given): SCPI
%     'fixed'         every answer has 'ReplyBytes' bytes
%     'length'        each message begins with its length: 'LengthBytes' (1, 2 or 4; 2), 'BigEndian' (false), 'CountsItself' (false)
%
%   Further options: 'Timeout' (seconds, 1), 'Wait' ('block', 'poll' or 'spin'), 'Baud' (0: unchanged), 'QuickAck' (false).
%
%   dev = wiregauge.open('serial:///dev/ttyUSB0', 'Framing', 'terminator', 'Baud', 115200);
%   name = char(dev.exchange('*IDN?'))
%
%   Errors: wiregauge:argument, wiregauge:usage, wiregauge:unreachable, wiregauge:notFound ..., and wiregauge:missing if the MEX file is not built.
%
%   See also wiregauge.Device, wiregauge.exchange.

options = wiregauge.internal.pairs(varargin, struct('Framing', 'wiregauge', 'Terminator', char(10), 'ReplyBytes', 0, ...
    'LengthBytes', 2, 'BigEndian', false, 'CountsItself', false, 'Timeout', 1, 'Wait', 'block', 'Baud', 0, 'QuickAck', false));
dev = wiregauge.Device(wiregauge.internal.text(address, 'the address'), options);
end
