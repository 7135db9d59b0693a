function system = tf(num, den, ts)
%TF  As far as wiregauge.control needs it: the transfer function of a control toolbox.

if nargin < 3
    ts = 0;
end
system = class(struct('num', num, 'den', den, 'ts', ts), 'tf');
end
