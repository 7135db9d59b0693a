function result = limits(varargin)
%LIMITS  Compute the maximum throughput of a medium, by the specifications.
%   wiregauge.limits() prints an overview of USB, serial lines, CAN and Ethernet; wiregauge.limits('usb', 'Speed', 'full') the
%   limits of one medium: 'usb', 'uart', 'can', 'tcp' or 'udp'. With an output it returns a struct array, one element for each
%   combination. No device is needed.
%
%   Options are the flags of `wiregauge limits` (`wiregauge help limits` lists all):
%     'In', 'Out'                          sizes in bytes, for the shortest time of an exchange
%     'Speed' ('low', 'full', 'high', '5G', '10G', '20G'), 'Type' ('bulk' ...), 'Packet', 'Packets', 'Interval' (seconds)    USB
%     'Baud', 'Framing' ('8E1'), 'Protocol' ('modbus'), 'Read'                        serial lines
%     'Bitrate', 'DataBitrate' (bit/s), 'Bytes'                                       CAN
%     'Rate' (bit/s), 'Mtu', 'Payload', 'Ipv6', 'Vlan', 'NoTimestamps'                Ethernet
%
%   Each element has the fields of `wiregauge limits --json` (docs/limits.md); missing values are NaN:
%     medium                      and its parameters: speed, type, packet_bytes, baud, bitrate ...
%     bytes_s                     maximum throughput of the payload in B/s
%     messages_s, message_ns      packets, frames or bytes per second; time of one in ns
%     efficiency                  share of the raw rate, 0 to 1
%     exchange_ns                 shortest time of an exchange in ns, with 'In' and 'Out'
%     formula, source, notes      text
%
%   Example:
%     result = wiregauge.limits('usb', 'Speed', 'full');
%     bulk = result(strcmp({result.type}, 'bulk')).bytes_s / 1e6      % MB/s
%     serial = wiregauge.limits('uart', 'Baud', [115200 921600]);
%     rates = [serial.bytes_s]
%
%   Errors: wiregauge:usage (the medium does not allow it), wiregauge:argument, wiregauge:missing.
%
%   See also wiregauge.exchange, wiregauge.stream.

media = {'usb', 'uart', 'can', 'tcp', 'udp'};
places = {};
given = varargin;
if mod(numel(given), 2) == 1
    places = {wiregauge.internal.text(given{1}, 'the medium')};
    given = given(2:end);
    if ~any(strcmp(places{1}, media))
        wiregauge.internal.fail('wiregauge:argument', 'unknown medium "%s"; media: %s', places{1}, strjoin(media, ', '));
    end
end
words = wiregauge.internal.flags(given);
if nargout == 0
    wiregauge.internal.printed('limits', words, places);
    return
end
result = wiregauge.internal.answered('limits', words, places);
end
