function dev = open(address, varargin)
%OPEN  Open a device to exchange your own bytes with.
%   dev = wiregauge.open('tcp://10.0.0.5:7700') opens tcp://, udp://, unix://, serial://PATH or usb:// and returns a wiregauge.Device.
%   The device uses the wiregauge protocol, or another 'Protocol':
%
%     'wiregauge'     (default) numbered frames with checksums; replies have the requested size
%     'scpi'          an instrument: a newline is sent behind each message and ends each reply, outside strings and block data
%     'text'          messages are sent as they are; a reply ends with 'Terminator'
%
%   or another 'Framing':
%
%     'raw'           no framing; each call gives the size of the reply
%     'terminator'    messages and replies end with 'Terminator' (char(10), the newline, unless given)
%     'fixed'         every reply has 'ReplyBytes' bytes
%     'length'        each message begins with its length: 'LengthBytes' (1, 2 or 4; 2), 'BigEndian' (false), 'CountsItself' (false)
%
%   Further options: 'Timeout' (seconds, 1), 'Wait' ('block', 'poll' or 'spin'), 'Baud' (of a serial line; 0: unchanged), 'QuickAck' (of
%   TCP; false). An option that has no effect is an error.
%
%   Example:
%     dev = wiregauge.open('tcp://127.0.0.1:7700');
%     reply = dev.exchange(uint8(1:16), 2000);            % a uint8 column of 2000 bytes
%     dev.close()
%
%   An instrument: meter = wiregauge.open('tcp://10.0.0.7:5025', 'Protocol', 'scpi'); name = meter.query('*IDN?')
%
%   Errors: wiregauge:argument, wiregauge:usage, wiregauge:unreachable, wiregauge:notFound ..., and wiregauge:missing if the MEX file is
%   not built.
%
%   See also wiregauge.Device, wiregauge.exchange.

wiregauge.internal.given(nargin, 1, Inf, 'dev = wiregauge.open(''tcp://127.0.0.1:7700'')');
address = wiregauge.internal.text(address, 'the address');
dev = wiregauge.Device(address, wiregauge.internal.deviceOptions(address, varargin));
end
