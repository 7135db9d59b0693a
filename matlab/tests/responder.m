function [address, stop] = responder(varargin)
%RESPONDER  A responder of wiregauge serve, a process of its own.
%   [address, stop] = responder('tcp://127.0.0.1:0', '--service-time', '1ms') starts it and returns where it can be reached. It ends
%   when stop is cleared.

[address, stop] = process('^serving (\S+)', wiregauge.internal.binary(), [{'serve'}, varargin, {'--quiet'}]);
end
