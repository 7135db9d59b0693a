function connection = connect(address, varargin)
%CONNECT  Open tcp://HOST:PORT or serial://PATH with what MATLAB and Octave bring: tcpclient or serialport.
%   connection = wiregauge.pure.connect(address) returns a tcpclient or a serialport, ready for wiregauge.pure.measure or for
%   read and write by hand. Options: 'Timeout' (seconds, default 2), 'Baud' (serial, default 115200; a USB device ignores
%   it).
%
%   Octave needs its package instrument-control for that; it is loaded here.
%
%   Example:
%     connection = wiregauge.pure.connect('tcp://127.0.0.1:7700');
%     write(connection, wiregauge.pure.encode(0, 16, 48));
%     response = read(connection, 48);
%
%   Errors: wiregauge:usage if it is neither, wiregauge:link if it cannot be opened.

wiregauge.internal.given(nargin, 1, Inf, 'connection = wiregauge.pure.connect(''tcp://127.0.0.1:7700'')');
options = wiregauge.internal.pairs(varargin, struct('Timeout', 2, 'Baud', 115200));
address = wiregauge.internal.text(address, 'the address');
wiregauge.internal.whole('Baud', options.Baud, 1, Inf);
wiregauge.internal.seconds('Timeout', options.Timeout, Inf);
if exist('OCTAVE_VERSION', 'builtin')
    try
        pkg('load', 'instrument-control');
    catch problem
        wiregauge.internal.fail('wiregauge:missing', ...
            ['Octave''s package instrument-control is missing (on Debian: octave-instrument-control;' ...
            ' elsewhere: pkg install -forge instrument-control): %s'], problem.message);
    end
end
[parts, found] = regexp(address, '^tcp://\[?(.+?)\]?:(\d+)$', 'tokens', 'match', 'once');
if ~isempty(found)
    try
        connection = tcpclient(parts{1}, str2double(parts{2}), 'Timeout', options.Timeout);
    catch problem
        wiregauge.internal.fail('wiregauge:link', 'cannot open %s: %s', address, problem.message);
    end
    return
end
[parts, found] = regexp(address, '^serial://(.+)$', 'tokens', 'match', 'once');
if isempty(found)
    wiregauge.internal.fail('wiregauge:usage', 'the pure client opens tcp://HOST:PORT and serial://PATH, not "%s"', address);
end
try
    connection = serialport(parts{1}, options.Baud);
    connection.Timeout = options.Timeout; % Octave takes it after opening only.
catch problem
    wiregauge.internal.fail('wiregauge:link', 'cannot open %s: %s', address, problem.message);
end
end
